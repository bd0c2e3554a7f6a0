package dev.minifloat.cuda.sim.internal.ptx;

import java.util.HashMap;
import java.util.Map;

/** The read-only registers that a kernel finds set (PTX ISA, "Special Registers"). */
public enum SpecialRegister {
  TID_X("%tid.x"),
  TID_Y("%tid.y"),
  TID_Z("%tid.z"),
  NTID_X("%ntid.x"),
  NTID_Y("%ntid.y"),
  NTID_Z("%ntid.z"),
  CTAID_X("%ctaid.x"),
  CTAID_Y("%ctaid.y"),
  CTAID_Z("%ctaid.z"),
  NCTAID_X("%nctaid.x"),
  NCTAID_Y("%nctaid.y"),
  NCTAID_Z("%nctaid.z"),
  CLUSTERID_X("%clusterid.x"),
  CLUSTERID_Y("%clusterid.y"),
  CLUSTERID_Z("%clusterid.z"),
  NCLUSTERID_X("%nclusterid.x"),
  NCLUSTERID_Y("%nclusterid.y"),
  NCLUSTERID_Z("%nclusterid.z"),
  CLUSTER_CTAID_X("%cluster_ctaid.x"),
  CLUSTER_CTAID_Y("%cluster_ctaid.y"),
  CLUSTER_CTAID_Z("%cluster_ctaid.z"),
  CLUSTER_NCTAID_X("%cluster_nctaid.x"),
  CLUSTER_NCTAID_Y("%cluster_nctaid.y"),
  CLUSTER_NCTAID_Z("%cluster_nctaid.z"),
  CLUSTER_CTARANK("%cluster_ctarank"),
  CLUSTER_NCTARANK("%cluster_nctarank"),
  LANEID("%laneid"),
  WARPID("%warpid"),
  NWARPID("%nwarpid"),
  SMID("%smid"),
  NSMID("%nsmid"),
  GRIDID("%gridid", PtxType.U64),
  LANEMASK_EQ("%lanemask_eq"),
  LANEMASK_LE("%lanemask_le"),
  LANEMASK_LT("%lanemask_lt"),
  LANEMASK_GE("%lanemask_ge"),
  LANEMASK_GT("%lanemask_gt"),
  DYNAMIC_SMEM_SIZE("%dynamic_smem_size"),
  TOTAL_SMEM_SIZE("%total_smem_size"),
  CLOCK("%clock"),
  CLOCK_HI("%clock_hi"),
  CLOCK64("%clock64", PtxType.U64),
  GLOBALTIMER("%globaltimer", PtxType.U64),
  GLOBALTIMER_LO("%globaltimer_lo"),
  GLOBALTIMER_HI("%globaltimer_hi");

  private static final Map<String, SpecialRegister> BY_NAME = new HashMap<>();

  static {
    for (SpecialRegister register : values()) {
      BY_NAME.put(register.ptxName, register);
    }
  }

  private final String ptxName;
  private final PtxType type;

  SpecialRegister(String ptxName) {
    this(ptxName, PtxType.U32);
  }

  SpecialRegister(String ptxName, PtxType type) {
    this.ptxName = ptxName;
    this.type = type;
  }

  /** The register of a name such as {@code %tid.x}; null if there is none. */
  static SpecialRegister of(String name) {
    return BY_NAME.get(name);
  }

  public PtxType type() {
    return type;
  }

  /** Whether two reads by one thread can differ. */
  public boolean changes() {
    return switch (this) {
      case CLOCK, CLOCK_HI, CLOCK64, GLOBALTIMER, GLOBALTIMER_LO, GLOBALTIMER_HI -> true;
      case TID_X, TID_Y, TID_Z, NTID_X, NTID_Y, NTID_Z -> false;
      case CTAID_X, CTAID_Y, CTAID_Z, NCTAID_X, NCTAID_Y, NCTAID_Z -> false;
      case CLUSTER_CTARANK, CLUSTER_NCTARANK -> false;
      case CLUSTERID_X, CLUSTERID_Y, CLUSTERID_Z -> false;
      case NCLUSTERID_X, NCLUSTERID_Y, NCLUSTERID_Z -> false;
      case CLUSTER_CTAID_X, CLUSTER_CTAID_Y, CLUSTER_CTAID_Z -> false;
      case CLUSTER_NCTAID_X, CLUSTER_NCTAID_Y, CLUSTER_NCTAID_Z -> false;
      case LANEID, WARPID, NWARPID, SMID, NSMID, GRIDID -> false;
      case LANEMASK_EQ, LANEMASK_LE, LANEMASK_LT, LANEMASK_GE, LANEMASK_GT -> false;
      case DYNAMIC_SMEM_SIZE, TOTAL_SMEM_SIZE -> false;
    };
  }

  @Override
  public String toString() {
    return ptxName;
  }
}
